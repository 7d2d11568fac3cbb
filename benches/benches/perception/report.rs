//! Rows of the tables: a figure, its target and whether it holds.

/// Prints the title of a table.
pub fn title(text: &str) {
    println!("\n{text}");
}

/// Prints a figure that must be at most `most`.
pub fn at_most(name: &str, figure: f64, most: f64, unit: &str) {
    let verdict = if figure <= most { "holds" } else { "missed" };
    println!("  {name:<66} {figure:>9.3}{unit}  target ≤ {most}{unit}: {verdict}");
}

/// Prints a figure that must be at least `least`.
pub fn at_least(name: &str, figure: f64, least: f64, unit: &str) {
    let verdict = if figure >= least { "holds" } else { "missed" };
    println!("  {name:<66} {figure:>9.3}{unit}  target ≥ {least}{unit}: {verdict}");
}

/// Prints a figure without a target.
pub fn figure(name: &str, figure: f64, unit: &str) {
    println!("  {name:<66} {figure:>9.3}{unit}");
}
