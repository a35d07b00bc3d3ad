//! Verifies all readable generations of a file. Each stored range is verified once.

use std::cell::Cell;
use std::time::Instant;

use entasis_format::{Error, Kind, Result, fallible};

use super::damage::{Damage, MOST_DAMAGES, Survey};
use super::known::Known;
use super::{PARTS, Report, Work};
use crate::file::{File, Lost, is_part};
use crate::monitor::{INTERVAL, Monitor};

impl File {
    /// Verifies the file; see [`verify`](crate::verify()).
    ///
    /// # Errors
    /// As [`verify`](crate::verify()).
    pub fn verify(&self, threads: Option<usize>, monitor: &dyn Monitor) -> Result<Report> {
        self.survey(threads, monitor)?.into_result()
    }

    /// Verifies the file as [`verify`](crate::verify()) does, and goes on after damage.
    ///
    /// # Errors
    /// All but *corrupt*.
    pub fn survey(&self, threads: Option<usize>, monitor: &dyn Monitor) -> Result<Survey> {
        self.watched(threads, monitor, |work| self.survey_all(work))
    }

    /// Verifies the generation of this view alone, and goes on after damage. For an earlier
    /// generation, skips newer slots and later bytes.
    ///
    /// # Errors
    /// All but *corrupt*.
    pub fn survey_generation(&self, threads: Option<usize>, monitor: &dyn Monitor) -> Result<Survey> {
        self.watched(threads, monitor, |work| self.survey_one(&mut Known::default(), work))
    }

    /// Verifies the bytes up to the end of this generation.
    fn watched(
        &self,
        threads: Option<usize>,
        monitor: &dyn Monitor,
        survey: impl FnOnce(Work<'_>) -> Result<Survey>,
    ) -> Result<Survey> {
        let total = self.slot().end;
        let survey = survey(Work { threads, monitor, done: &Cell::new(0), total });
        let is_over = survey.is_ok() && !monitor.finished(total);
        let survey = if is_over { Err(Error::interrupted()) } else { survey };
        survey.map_err(|e| e.in_file(self.path()))
    }

    fn survey_one(&self, known: &mut Known, work: Work<'_>) -> Result<Survey> {
        let mut survey = self.whole().survey_state(known, work)?;
        if let Some(error) = self.lost() {
            survey.last_sound = survey.is_newest_sound.then(|| self.generation());
            survey.generations.extend(error.generations());
            survey.is_newest_sound = false;
            survey.damages.insert(0, damage(error.generations().first().copied(), &error));
            survey.damages.truncate(MOST_DAMAGES);
            survey.n_damages += 1;
            survey.error = Some(error);
        }
        survey.error = survey.error.map(|e| e.in_file(self.path()));
        Ok(survey)
    }

    fn survey_all(&self, work: Work<'_>) -> Result<Survey> {
        let mut known = Known::default();
        let mut survey = self.survey_one(&mut known, work)?;
        let mut polled = Instant::now();
        for state in self.chain().skip(1) {
            if polled.elapsed() >= INTERVAL {
                polled = Instant::now();
                if work.monitor.interrupted() {
                    return Err(Error::interrupted());
                }
            }
            let state = match state {
                Ok((slot, root)) if root.file_id != self.root().file_id => Err(Lost {
                    generation: slot.generation,
                    error: Error::corrupt("an earlier generation is that of another file").at(slot.root_at),
                }),
                Ok((_, root)) if is_part(&root) => continue,
                Ok((slot, _)) => {
                    self.view_at(slot).map_err(|error| Lost { generation: slot.generation, error })
                }
                Err(lost) => Err(lost),
            };
            match state {
                Ok(file) => {
                    let found = file.whole().survey_state(&mut known, work)?;
                    survey.add_generation(file.generation(), found)?;
                }
                Err(lost) => survey.add_lost(lost)?,
            }
        }
        if let Some((generation, at)) = known.overlap()? {
            survey.add_lost(Lost {
                generation,
                error: Error::corrupt("parts of two generations overlap").at(at),
            })?;
        }
        survey.generations.sort_unstable();
        survey.generations.dedup();
        survey.error = survey.error.map(|e| e.in_file(self.path()));
        Ok(survey)
    }
}

impl Survey {
    /// Adds a damaged place.
    fn add(&mut self, damage: Damage, error: Error) {
        self.n_damages += 1;
        if self.damages.len() < MOST_DAMAGES {
            self.damages.push(damage);
        }
        let is_first = self.error.as_ref().is_none_or(|error| error.kind() != Kind::Corrupt);
        if is_first {
            self.error = Some(error);
        }
    }

    /// Adds an earlier generation that cannot be read.
    fn add_lost(&mut self, lost: Lost) -> Result<()> {
        let Lost { generation, error } = lost;
        if error.kind() != Kind::Corrupt {
            return Err(error);
        }
        fallible::push(&mut self.generations, generation, PARTS)?;
        self.add(damage(Some(generation), &error), error);
        Ok(())
    }

    /// Adds what was found in an earlier generation.
    fn add_generation(&mut self, number: u64, found: Survey) -> Result<()> {
        self.report.n_generations += 1;
        if found.n_damages == 0 && !found.is_shared {
            let is_first = !self.is_newest_sound && self.last_sound.is_none();
            self.last_sound = self.last_sound.or(is_first.then_some(number));
        } else {
            fallible::push(&mut self.generations, number, PARTS)?;
        }
        self.n_damages += found.n_damages;
        let room = MOST_DAMAGES.saturating_sub(self.damages.len());
        let of_here = found.damages.into_iter().take(room);
        self.damages.extend(of_here.map(|damage| Damage { generation: Some(number), ..damage }));
        match (&self.error, found.error) {
            (None, error) => self.error = error,
            (Some(old), Some(new)) if old.kind() != Kind::Corrupt && new.kind() == Kind::Corrupt => {
                self.error = Some(new);
            }
            _ => {}
        }
        Ok(())
    }
}

/// Damage of a generation as a whole.
fn damage(generation: Option<u64>, error: &Error) -> Damage {
    let (message, location) = (error.message().to_owned(), error.location().clone());
    Damage { generation, column: None, table: None, number: None, values: None, message, location }
}
