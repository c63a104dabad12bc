//! Keys for tests, made with OpenSSL for this file. They belong to nobody and open nothing.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// An EC key of P-256, as SEC 1.
pub(in crate::tools::mcp) const EC_SEC1: &str = "MHcCAQEEIFZG3/fEBOvXj+4eCWRNqveoDO0neZoMbxB6yq+yjOs1oAoGCCqGSM49AwEHoUQDQgAE+Mpk7qeI\
     HJEuVhhzK8asJtF1pTlDMjPOXnEKH8xiM039k8qeFABODhbVzISbs3632+JE6OfsP+3O+OnstFkYSQ==";

/// Its public half, as a point.
pub(in crate::tools::mcp) const EC_PUBLIC: &str = "BPjKZO6niByRLlYYcyvGrCbRdaU5QzIzzl5xCh/MYjNN/ZPKnhQATg4W1cyEm7N+t9viROjn7D/tzvjp7LRZ\
     GEk=";

/// An RSA key of 2048 bits, as PKCS#8.
pub(in crate::tools::mcp) const RSA_PKCS8: &str = "MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQDsjcV50EmTp7wg9oQn3RkJS0Hx60Wa0xbg\
     4Y1opnhSHt+sP5J6X5G3gcdy7Zj66nTBiKDXkAHVcSZ5PoZ38AsMuq/g2U22fD7hFiN/UeBXRXgOikPpKkUN\
     t8GHAzxnaphE1TajveYCm2tNQNLUyhqFOWQ1lN5lo51a6KP20+lAiGBJJ3CaB+h4Y59gyTVZ4V7R4Fnj9gQk\
     SCjxvtNKPOSnNI2izCKmlVS8spdwMtqwjACA74ZM3IKxsnwmRpq/kp2ESYylXLA9UA0237vSntpVSifaXzSQ\
     ebllEfW1UM7l7Qktz6Pj50Wsda2ash4X/BdDGRu3LQUxBCAkxEIwfbrbAgMBAAECggEAT/DTOQjSLJOFSLB2\
     VdBqqxDjPsGO+rT2aNXgh2qmg74KQbgUJMXSRS0W/Xhc+AKupU6qaF6yt/JumY+vOq4E1e7rC/XzxMU1LLTi\
     Fx9QzL1dxrAkJhJSVsHwJVPLIHnN7okNV4WPyvbB6tAKz71i+/26pz7hb4C85yFyc7IGg/dMGlC0Pe8B9oZd\
     uCCzS+hVDUWSeE/4QC0brhNJE9OSVZL16CxN9Zo3DIxBoDE0qyKwuIRiFCC64BHFmAmFawsJlPARcLBl+mfp\
     TeKlgWtkZkx2X9TgMCGXgHLMx7iFVdZyN2agxa4TTzlV4JO7h9+AiPwRmMicbmUw8ccBKuBJeQKBgQD3yKPW\
     KM49fw4dZBIS036NiL1EaKh3yio/9vcgVS1LrPgwwA6z6waMNIF7d4oDFlq1zEPYOg3NWdiQRmHZXdllQ8zZ\
     fFuk9tPsr99J0T5FBwnsIN+nGMpPY/AOlMl/D8U5y97SGkt3MTFwibqrBEiijo6wRQaQdh9y9rC6WK86yQKB\
     gQD0Zc3DqlcsTkVCSsdzeemZo93vnECOK70PW9Qm5yjf/Nm4PVpvYwVFglta26GjCNACHpPZqugyFT9TT7IE\
     rTz0ZtIC775KJuy2ucHd7Imu0Fpz3NSwcFSeHfrZO6pRNrQWfpdVos6o8M0cl7f2EQxAjUG2p8ZyD1RR1KPg\
     3up2gwKBgQCEVxJCYNr+d2zXf8ozaehOubi0390S1dRJA6OsDjI6F/EbQIjZyW5e1fBOPGNnELp0HNwjkaYr\
     hpAnRqAeU4S4FEVF56ie7AH2iVyN9Yb3oTHIfypU+eWcD3l4oDkadxbUrrGcr9ScnZaVT8p2arxMri1Bsiw2\
     XhCf+2garyEwGQKBgGRQdQjfHjDdX6g6MWvAmpWpoSr8o7K3WT64nnfpYemuS19IL5qQtlU1kHHWvJ3CvD5i\
     dqVddTk5Z2i2yYcJ5H8cxQ7XgO/G0lqeHGkO8eSDON1dwx84vEK6Y4BO8TWskna5Nzy7OsA1NruJusSRcsn8\
     MQDcFKQ0jpOYCDwAw5QpAoGBAONPo+OjmsXeiwey2AJsXftOaVLPyffx4MqN91omNYe0c9dWaxGLXs41mTWz\
     +PuaE+1mdSAmeT7HXgH7Sxfjza/Y8a/rKy65C9jC5gMCGu69pTkz8WzJHvUG6as/tBAaFeTKOKrmrYD8vFUA\
     KTD8MtJGdHl7E4POpmEvqTzIajcF";

/// Its public half, as PKCS#1.
pub(in crate::tools::mcp) const RSA_PUBLIC: &str = "MIIBCgKCAQEA7I3FedBJk6e8IPaEJ90ZCUtB8etFmtMW4OGNaKZ4Uh7frD+Sel+Rt4HHcu2Y+up0wYig15AB\
     1XEmeT6Gd/ALDLqv4NlNtnw+4RYjf1HgV0V4DopD6SpFDbfBhwM8Z2qYRNU2o73mAptrTUDS1MoahTlkNZTe\
     ZaOdWuij9tPpQIhgSSdwmgfoeGOfYMk1WeFe0eBZ4/YEJEgo8b7TSjzkpzSNoswippVUvLKXcDLasIwAgO+G\
     TNyCsbJ8Jkaav5KdhEmMpVywPVANNt+70p7aVUon2l80kHm5ZRH1tVDO5e0JLc+j4+dFrHWtmrIeF/wXQxkb\
     ty0FMQQgJMRCMH262wIDAQAB";

/// Returns what base64 stands for.
pub(in crate::tools::mcp) fn decoded(text: &str) -> Vec<u8> {
    STANDARD.decode(text).unwrap()
}

/// Returns a PEM text, with lines as OpenSSL breaks them.
pub(in crate::tools::mcp) fn pem(label: &str, der: &[u8]) -> String {
    let letters: Vec<char> = STANDARD.encode(der).chars().collect();
    let lines: Vec<String> = letters.chunks(64).map(|line| line.iter().collect()).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

/// Returns the EC key as a variable holds it.
pub(in crate::tools::mcp) fn ec_key() -> String {
    pem("EC PRIVATE KEY", &decoded(EC_SEC1))
}
