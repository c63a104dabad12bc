//! A package of Office Open XML: a zip file whose parts are read up to a limit, whatever they say
//! their size is.

use std::io::{Cursor, Read as _};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::document::DocumentError;

/// Most bytes that one part unpacks to.
pub(super) const PART_LIMIT_BYTES: u64 = 64 * 1024 * 1024;

/// An opened package.
pub(super) struct Package<'c> {
    archive: ZipArchive<Cursor<&'c [u8]>>,
}

impl<'c> Package<'c> {
    /// Opens a package.
    pub(super) fn open(content: &'c [u8]) -> Result<Self, DocumentError> {
        let archive = ZipArchive::new(Cursor::new(content)).map_err(DocumentError::malformed)?;
        Ok(Self { archive })
    }

    /// Reads a part; `None` where there is none of this name.
    pub(super) fn part(&mut self, name: &str) -> Result<Option<Vec<u8>>, DocumentError> {
        let file = match self.archive.by_name(name) {
            Ok(file) => file,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(error) => return Err(DocumentError::malformed(error)),
        };
        let mut part = Vec::new();
        let read = file.take(PART_LIMIT_BYTES + 1).read_to_end(&mut part);
        read.map_err(DocumentError::malformed)?;
        if part.len() as u64 > PART_LIMIT_BYTES {
            return Err(DocumentError::TooLarge(PART_LIMIT_BYTES));
        }
        Ok(Some(part))
    }

    /// Returns an error where some part says that it unpacks to more than is read.
    pub(super) fn check_sizes(&mut self) -> Result<(), DocumentError> {
        for at in 0..self.archive.len() {
            let file = self.archive.by_index_raw(at).map_err(DocumentError::malformed)?;
            if file.size() > PART_LIMIT_BYTES {
                return Err(DocumentError::TooLarge(PART_LIMIT_BYTES));
            }
        }
        Ok(())
    }
}
