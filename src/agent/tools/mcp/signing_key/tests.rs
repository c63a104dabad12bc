//! Keys in every format that is read: what they sign is verified by their public half alone.

use pretty_assertions::assert_eq;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING,
    EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256,
    UnparsedPublicKey, VerificationAlgorithm,
};

use super::test_keys::{EC_PUBLIC, EC_SEC1, RSA_PKCS8, RSA_PUBLIC, decoded, ec_key, pem};
use super::{SigningAlgorithm, SigningKey, SigningKeyError, pkcs8_of};

/// Bytes before the PKCS#1 key in PKCS#8.
const RSA_PREFIX_BYTES: usize = 26;

const MESSAGE: &[u8] = b"header.claims";

fn verifies(key: &SigningKey, algorithm: SigningAlgorithm, public: &[u8]) {
    let how: &dyn VerificationAlgorithm = match algorithm {
        SigningAlgorithm::Es256 => &ECDSA_P256_SHA256_FIXED,
        SigningAlgorithm::Rs256 => &RSA_PKCS1_2048_8192_SHA256,
        SigningAlgorithm::Ps256 => &RSA_PSS_2048_8192_SHA256,
    };
    let signature = key.sign(algorithm, MESSAGE).unwrap();
    let public = UnparsedPublicKey::new(how, public);
    assert_eq!(public.verify(MESSAGE, &signature), Ok(()), "{algorithm:?}");
    assert!(public.verify(b"header.other claims", &signature).is_err(), "{algorithm:?}");
}

#[test]
fn an_ec_key_signs_in_each_format_it_may_be_stored_in() {
    let (sec1, public) = (decoded(EC_SEC1), decoded(EC_PUBLIC));
    let pkcs8 = pem("PRIVATE KEY", &pkcs8_of(&sec1));
    for (text, how) in [
        (ec_key(), "as SEC 1"),
        (format!("{}{}", pem("EC PARAMETERS", &[6, 0]), ec_key()), "after its parameters"),
        (pkcs8.clone(), "as PKCS#8"),
        (pkcs8.replace('\n', "\r\n"), "with lines of Windows"),
        (pkcs8.replace('\n', "\\n"), "with line ends in letters"),
        (pkcs8.replace('\n', " "), "in one line"),
        (format!("  a comment\n{pkcs8}\n\n"), "with text around it"),
    ] {
        let key = SigningKey::parse(&text).unwrap_or_else(|why| panic!("{how}: {why}"));
        assert_eq!(key.algorithms(), [SigningAlgorithm::Es256], "{how}");
        verifies(&key, SigningAlgorithm::Es256, &public);
    }
    let random = SystemRandom::new();
    let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
    let pair =
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, made.as_ref(), &random).unwrap();
    let key = SigningKey::parse(&pem("PRIVATE KEY", made.as_ref())).unwrap();
    verifies(&key, SigningAlgorithm::Es256, pair.public_key().as_ref());
}

#[test]
fn an_rsa_key_signs_in_both_ways_and_in_each_format() {
    let pkcs8 = decoded(RSA_PKCS8);
    for text in [pem("PRIVATE KEY", &pkcs8), pem("RSA PRIVATE KEY", &pkcs8[RSA_PREFIX_BYTES..])] {
        let key = SigningKey::parse(&text).unwrap();
        assert_eq!(key.algorithms(), [SigningAlgorithm::Rs256, SigningAlgorithm::Ps256]);
        for algorithm in [SigningAlgorithm::Rs256, SigningAlgorithm::Ps256] {
            verifies(&key, algorithm, &decoded(RSA_PUBLIC));
        }
    }
}

#[test]
fn a_key_signs_with_algorithms_of_its_kind_only() {
    let (ec, rsa) = (ec_key(), pem("PRIVATE KEY", &decoded(RSA_PKCS8)));
    for (text, algorithm, told) in [
        (
            &ec,
            SigningAlgorithm::Rs256,
            "is an EC key, which cannot sign with RS256: it signs with ES256",
        ),
        (&ec, SigningAlgorithm::Ps256, "with PS256"),
        (
            &rsa,
            SigningAlgorithm::Es256,
            "is an RSA key, which cannot sign with ES256: it signs with RS256 or PS256",
        ),
    ] {
        let key = SigningKey::parse(text).unwrap();
        let why = key.check(algorithm).unwrap_err();
        assert!(why.to_string().contains(told), "{why}");
        assert_eq!(key.sign(algorithm, MESSAGE), Err(why));
    }
}

#[test]
fn what_is_no_key_is_named_and_not_shown() {
    let random = SystemRandom::new();
    let p384 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P384_SHA384_FIXED_SIGNING, &random).unwrap();
    let ed25519 = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
    let (sec1, pkcs8) = (decoded(EC_SEC1), decoded(RSA_PKCS8));
    let halfless = [&[0x30, 49], &sec1[2..51]].concat();
    let whole = ec_key();
    for (text, told) in [
        (String::new(), "is no PEM text"),
        ("hunter2-hunter2".to_owned(), "is no PEM text"),
        (
            whole.replace("-----END", "----END"),
            "is cut off: it has no line `-----END EC PRIVATE KEY-----`",
        ),
        (whole[..90].to_owned(), "is cut off"),
        (whole.replacen("MH", "M*", 1), "no base64"),
        (pem("PUBLIC KEY", &decoded(EC_PUBLIC)), "is a `PUBLIC KEY`; it has to be a `PRIVATE KEY`"),
        (pem("CERTIFICATE", &sec1), "is a `CERTIFICATE`"),
        (pem("DSA PRIVATE KEY", &sec1), "is a `DSA PRIVATE KEY`"),
        (pem("OPENSSH PRIVATE KEY", &sec1), "is in OpenSSH's format"),
        (pem("ENCRYPTED PRIVATE KEY", &sec1), "is encrypted, and nobody can be asked"),
        (
            whole.replacen("KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\n\n", 1),
            "is encrypted, and nobody can be asked",
        ),
        (pem("PRIVATE KEY", p384.as_ref()), "on another curve than P-256"),
        (pem("EC PRIVATE KEY", &halfless), "without its public half"),
        (pem("EC PRIVATE KEY", &[0; 200]), "on another curve than P-256"),
        (pem("PRIVATE KEY", ed25519.as_ref()), "is neither an RSA key nor an EC key"),
        (pem("PRIVATE KEY", &[]), "is neither an RSA key nor an EC key"),
        (pem("PRIVATE KEY", &pkcs8[..900]), "is an RSA key that is damaged"),
        (pem("RSA PRIVATE KEY", &sec1), "is an RSA key that is damaged"),
    ] {
        let why = match SigningKey::parse(&text) {
            Ok(_) => panic!("{text} is a key"),
            Err(why) => why.to_string(),
        };
        assert!(why.contains(told), "{told}: {why}");
        assert!(!why.contains("hunter2") && !why.contains("MHcCAQ"), "{why}");
    }
    let long = format!("-----BEGIN {}-----", "A".repeat(1000));
    assert!(
        matches!(SigningKey::parse(&long), Err(SigningKeyError::CutOff(label)) if label.len() < 50)
    );
}
