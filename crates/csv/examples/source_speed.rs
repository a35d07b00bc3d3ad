//! Measures how fast the text of a file is read: `source_speed FILE [THREADS [ENCODING]]`.
//!
//! For gzip, it also measures the inflation alone, into a buffer that is used again.

use std::time::Instant;
use std::{env, fs};

use entasis_csv::source::{Origin, Source, SourceOptions};
use flate2::bufread::MultiGzDecoder;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = env::args().skip(1);
    let path = arguments.next().ok_or("name a file")?;
    let threads = arguments.next().map_or(Ok(2), |threads| threads.parse())?;
    let options = SourceOptions { encoding: arguments.next(), threads, ..SourceOptions::default() };
    let mut buffer = vec![0; 1 << 20];
    for _ in 0..5 {
        let begun = Instant::now();
        let mut source = Source::open(Origin::Path((&path).into()), &options)?;
        let mut len = 0;
        loop {
            match source.read(&mut buffer)? {
                0 => break,
                n => len += n,
            }
        }
        let seconds = begun.elapsed().as_secs_f64();
        let what = source.compression().unwrap_or("plain");
        print!("{what}, {}: {:.0} MB/s", source.encoding(), len as f64 / seconds / 1e6);
        if matches!(what, "gzip" | "BGZF") {
            let packed = fs::read(&path)?;
            let begun = Instant::now();
            let mut decoder = MultiGzDecoder::new(&packed[..]);
            let mut len = 0;
            loop {
                match std::io::Read::read(&mut decoder, &mut buffer)? {
                    0 => break,
                    n => len += n,
                }
            }
            let alone = begun.elapsed().as_secs_f64();
            print!("; inflating alone: {:.0} MB/s, {:.2} times", len as f64 / alone / 1e6, seconds / alone);
        }
        println!();
    }
    Ok(())
}
