//! `SigningKey`: the private key of a client, and what it signs as JSON Web Signatures carry it
//! (RFC 7518).
//!
//! In: a key as PEM, as a variable holds it. Out: signatures, or why the text is no key for them.
//! No error shows a part of the text but the label of its first line.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, RSA_PKCS1_SHA256, RSA_PSS_SHA256, RsaKeyPair,
};

use crate::tools::mcp::schema::one_line;

/// Longest label of a PEM text that is shown, in bytes.
const LABEL_SHOWN_BYTES: usize = 40;

/// How far into a PKCS#8 key its kind stands, in bytes.
const KIND_WITHIN_BYTES: usize = 40;

/// `rsaEncryption`, as DER writes it.
const RSA_OID: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];

/// `id-ecPublicKey`, as DER writes it.
const EC_OID: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];

/// What stands before an EC key of P-256 in PKCS#8: the version, and the two names of its kind.
const P256_PREFIX: &[u8] = &[
    0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08,
    0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07,
];

/// How a signature is made, by its name in JSON Web Signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SigningAlgorithm {
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// RSA as in PKCS#1 1.5 with SHA-256.
    Rs256,
    /// RSA-PSS with SHA-256.
    Ps256,
}

impl SigningAlgorithm {
    /// Every one there is.
    pub const ALL: [Self; 3] = [Self::Es256, Self::Rs256, Self::Ps256];

    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::Rs256 => "RS256",
            Self::Ps256 => "PS256",
        }
    }
}

/// Why a text is no key that signs: what follows "the private key in `KEY`".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SigningKeyError {
    /// There is no PEM text.
    #[error("is no PEM text: it has no line `-----BEGIN PRIVATE KEY-----`")]
    NoPem,
    /// Its last line is missing.
    #[error("is cut off: it has no line `-----END {0}-----`")]
    CutOff(String),
    /// It is something else in PEM.
    #[error("is a `{0}`; it has to be a `PRIVATE KEY`")]
    OtherLabel(String),
    /// What stands between its first and its last line cannot be read.
    #[error("is damaged: what stands between its first and its last line is no base64")]
    NoBase64,
    /// A passphrase would be needed.
    #[error(
        "is encrypted, and nobody can be asked for its passphrase: store what `openssl pkey -in \
         FILE` prints"
    )]
    Encrypted,
    /// OpenSSH's own format.
    #[error("is in OpenSSH's format: store what `openssl genpkey` or `openssl pkey` prints")]
    OpenSsh,
    /// Neither of the two kinds that are understood.
    #[error("is neither an RSA key nor an EC key on the curve P-256")]
    OtherKind,
    /// An EC key that is not taken.
    #[error(
        "is an EC key that is damaged, on another curve than P-256, or without its public half ({0}): \
         `openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256` makes one that fits"
    )]
    Ec(String),
    /// An RSA key that is not taken.
    #[error("is an RSA key that is damaged, or has not between 2048 and 4096 bits ({0})")]
    Rsa(String),
    /// The algorithm is one of another kind of key.
    #[error("is an {kind} key, which cannot sign with {algorithm}: it signs with {own}")]
    OtherAlgorithm {
        /// `EC` or `RSA`.
        kind: &'static str,
        /// What was asked for.
        algorithm: &'static str,
        /// What it can do.
        own: String,
    },
    /// The system gives no random numbers.
    #[error("cannot sign: the system gives no random numbers")]
    NoRandom,
}

/// See the module.
pub enum SigningKey {
    /// On P-256.
    Ec(EcdsaKeyPair),
    /// Of 2048 to 4096 bits.
    Rsa(RsaKeyPair),
}

impl SigningKey {
    /// Reads a key: `PRIVATE KEY` (PKCS#8), `EC PRIVATE KEY` (SEC 1) or `RSA PRIVATE KEY` (PKCS#1).
    /// Lines may be parted by `\n` in letters or by blanks, as some stores of secrets do.
    ///
    /// # Errors
    /// When it is none that can sign.
    pub fn parse(text: &str) -> Result<Self, SigningKeyError> {
        let text = text.replace("\\r", "").replace("\\n", "\n");
        let (label, body) = private_block(&text)?;
        if body.contains("4,ENCRYPTED") || label.starts_with("ENCRYPTED") {
            return Err(SigningKeyError::Encrypted);
        }
        if label.starts_with("OPENSSH") {
            return Err(SigningKeyError::OpenSsh);
        }
        let letters: String = body.split_whitespace().collect();
        let der = STANDARD.decode(letters).map_err(|_| SigningKeyError::NoBase64)?;
        let has = |oid: &[u8]| {
            let head = der.get(..KIND_WITHIN_BYTES.min(der.len())).unwrap_or_default();
            head.windows(oid.len()).any(|window| window == oid)
        };
        match label {
            "PRIVATE KEY" if has(EC_OID) => Self::ec(&der),
            "PRIVATE KEY" if has(RSA_OID) => RsaKeyPair::from_pkcs8(&der)
                .map(Self::Rsa)
                .map_err(|why| SigningKeyError::Rsa(why.to_string())),
            "EC PRIVATE KEY" => Self::ec(&pkcs8_of(&der)),
            "RSA PRIVATE KEY" => RsaKeyPair::from_der(&der)
                .map(Self::Rsa)
                .map_err(|why| SigningKeyError::Rsa(why.to_string())),
            "PRIVATE KEY" => Err(SigningKeyError::OtherKind),
            other => Err(SigningKeyError::OtherLabel(one_line(other, LABEL_SHOWN_BYTES))),
        }
    }

    fn ec(pkcs8: &[u8]) -> Result<Self, SigningKeyError> {
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8, &SystemRandom::new())
            .map(Self::Ec)
            .map_err(|why| SigningKeyError::Ec(why.to_string()))
    }

    /// Returns what it can sign with, the usual one first.
    pub fn algorithms(&self) -> &'static [SigningAlgorithm] {
        match self {
            Self::Ec(_) => &[SigningAlgorithm::Es256],
            Self::Rsa(_) => &[SigningAlgorithm::Rs256, SigningAlgorithm::Ps256],
        }
    }

    /// Checks that it can sign with an algorithm.
    ///
    /// # Errors
    /// When that is one of another kind of key.
    pub fn check(&self, algorithm: SigningAlgorithm) -> Result<(), SigningKeyError> {
        if self.algorithms().contains(&algorithm) {
            return Ok(());
        }
        let own: Vec<&str> = self.algorithms().iter().map(|one| one.as_str()).collect();
        Err(SigningKeyError::OtherAlgorithm {
            kind: match self {
                Self::Ec(_) => "EC",
                Self::Rsa(_) => "RSA",
            },
            algorithm: algorithm.as_str(),
            own: own.join(" or "),
        })
    }

    /// Returns the signature of a message.
    ///
    /// # Errors
    /// When the algorithm is one of another kind of key, or the system gives no random numbers.
    pub fn sign(
        &self,
        algorithm: SigningAlgorithm,
        message: &[u8],
    ) -> Result<Vec<u8>, SigningKeyError> {
        self.check(algorithm)?;
        let random = SystemRandom::new();
        match self {
            Self::Ec(key) => {
                let signature = key.sign(&random, message);
                Ok(signature.map_err(|_| SigningKeyError::NoRandom)?.as_ref().to_vec())
            }
            Self::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                let signed = match algorithm {
                    SigningAlgorithm::Ps256 => {
                        key.sign(&RSA_PSS_SHA256, &random, message, &mut signature)
                    }
                    SigningAlgorithm::Rs256 | SigningAlgorithm::Es256 => {
                        key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature)
                    }
                };
                signed.map_err(|_| SigningKeyError::NoRandom)?;
                Ok(signature)
            }
        }
    }
}

/// Returns label and body of the first private key of a PEM text, which may have other blocks
/// before it, such as `EC PARAMETERS`.
fn private_block(text: &str) -> Result<(&str, &str), SigningKeyError> {
    let mut other = SigningKeyError::NoPem;
    let mut rest = text;
    while let Some((_, begun)) = rest.split_once("-----BEGIN ") {
        let (label, after) = begun.split_once("-----").ok_or(SigningKeyError::NoPem)?;
        let shown = || one_line(label, LABEL_SHOWN_BYTES);
        let end = format!("-----END {label}-----");
        let (body, behind) =
            after.split_once(&end).ok_or_else(|| SigningKeyError::CutOff(shown()))?;
        if label.ends_with("PRIVATE KEY") {
            return Ok((label, body));
        }
        other = SigningKeyError::OtherLabel(shown());
        rest = behind;
    }
    Err(other)
}

/// Returns a key of P-256 as PKCS#8, given as SEC 1; nothing for one that is longer or has no
/// public half.
fn pkcs8_of(sec1: &[u8]) -> Vec<u8> {
    let (Ok(length @ ..0x80), Ok(whole @ 0x80..)) =
        (u8::try_from(sec1.len()), u8::try_from(P256_PREFIX.len() + 2 + sec1.len()))
    else {
        return Vec::new();
    };
    [&[0x30, 0x81, whole], P256_PREFIX, &[0x04, length], sec1].concat()
}

#[cfg(test)]
pub(super) mod test_keys;
#[cfg(test)]
mod tests;
