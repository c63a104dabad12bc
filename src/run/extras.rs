//! `RunExtras`: what the root task of a new run is given beside its message.
//!
//! In: images, and the conversation that goes on. Out: what is shown of them, or why it is not.

use crate::run::prepare::PreparedRun;
use crate::run::task_material::TaskImage;
use locum_agent::session::earlier::EarlierConversation;
use locum_base::image;

/// What the root task of a new run is given beside its message.
#[derive(Default)]
pub struct RunExtras {
    /// The conversation that it goes on with.
    pub earlier: Option<EarlierConversation>,
    /// Images that it is shown.
    pub images: Vec<TaskImage>,
    /// How many images its model cannot be shown.
    pub unseen_images: usize,
}

impl RunExtras {
    /// Says that images are not shown.
    pub fn unseen(&self, run: &PreparedRun) -> String {
        let counted = match self.unseen_images {
            1 => "1 image was".to_owned(),
            count => format!("{count} images were"),
        };
        format!(
            "{counted} not shown: {} is not known to read images (`images: true` in its profile \
             says that it does)",
            run.plan.models.0
        )
    }

    /// Adds an image that the root task is shown, and says so in the plan; one that its model
    /// cannot be shown is counted.
    ///
    /// # Errors
    /// Why the bytes are not shown.
    pub fn add_image(
        &mut self,
        run: &mut PreparedRun,
        bytes: &[u8],
        from: String,
    ) -> Result<(), String> {
        let image = run.image(bytes)?;
        if !run.sees_images() {
            self.unseen_images += 1;
            return Ok(());
        }
        let shown = self.images.iter().map(|shown| &shown.image);
        image::check_room(shown.chain([&image])).map_err(|error| error.to_string())?;
        run.plan.images.push(format!("{image}; {from}"));
        self.images.push(TaskImage { image, from });
        Ok(())
    }
}
