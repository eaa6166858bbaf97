/** Columns as kubectl prints them: upper-case titles, three spaces between, nothing after the last. */
export function formatTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [titles.map((title) => title.toUpperCase()), ...rows];
  const widths = titles.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd((widths[column] ?? 0) + 3))
        .join('')
        .trimEnd(),
    )
    .join('\n');
}
