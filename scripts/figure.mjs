// The figure of ARCHITECTURE.md, drawn from layers.json: tiers from top to bottom; in a tier, a package stands below
// those of the same tier that import it. Then who may import whom, as a table.
const innerWidth = 76;

export function figureOf(packages) {
  const rows = (tier) =>
    rowsOf(
      folders(packages).filter((folder) => tierOf(folder) === tier),
      packages,
    );
  const split = Math.floor(innerWidth * 0.64);
  const lines = [
    edge('┌', '┐', [['apps', innerWidth]]),
    ...box([[rows('apps'), innerWidth]]),
    edge(
      '├',
      '┤',
      [
        ['plane', split],
        ['operators', innerWidth - split - 1],
      ],
      '┬',
    ),
    ...box([
      [rows('plane'), split],
      [rows('operators'), innerWidth - split - 1],
    ]),
    edge(
      '├',
      '┤',
      [
        ['core', split],
        ['', innerWidth - split - 1],
      ],
      '┴',
    ),
    ...box([[rows('core'), innerWidth]]),
    `└${'─'.repeat(innerWidth)}┘`,
  ];
  return ['```', ...lines, '```', '', ...tableOf(packages)].join('\n');
}

const folders = (packages) => Object.keys(packages).filter((folder) => folder.includes('/'));
const tierOf = (folder) => folder.split('/')[0];
const nameOf = (folder) => folder.split('/')[1];

/** Rows of names, the most dependent packages first. A package that imports from a higher tier says so. */
function rowsOf(members, packages) {
  const order = ['core', 'operators', 'plane', 'apps'];
  const depth = (folder) =>
    Math.max(0, ...packages[folder].filter((other) => members.includes(other)).map((other) => depth(other) + 1));
  const label = (folder) => {
    const upwards = packages[folder].filter((other) => order.indexOf(tierOf(other)) > order.indexOf(tierOf(folder)));
    return upwards.length === 0 ? nameOf(folder) : `${nameOf(folder)} (for tests; imports ${upwards.join(', ')})`;
  };
  const deepest = Math.max(...members.map(depth));
  const rows = [];
  for (let level = deepest; level >= 0; level -= 1) {
    rows.push(
      members
        .filter((folder) => depth(folder) === level)
        .map(label)
        .join('   '),
    );
  }
  return rows;
}

function edge(left, right, parts, joint) {
  return `${left}${parts.map(([title, width]) => (title === '' ? '─'.repeat(width) : `─ ${title} `.padEnd(width, '─'))).join(joint)}${right}`;
}

function box(columns) {
  const height = Math.max(...columns.map(([rows]) => rows.length));
  return Array.from({ length: height }, (_, at) => {
    const cells = columns.map(([rows, width]) => `   ${rows[at] ?? ''}`.padEnd(width));
    return `│${cells.join('│')}│`;
  });
}

function tableOf(packages) {
  return [
    '| package | may import |',
    '|---|---|',
    ...Object.entries(packages).map(
      ([folder, imports]) => `| ${folder} | ${imports.length === 0 ? 'nothing' : imports.join(', ')} |`,
    ),
  ];
}
