// Parts of documents that are made, not written: everything between `<!-- NAME: … -->` and `<!-- end of NAME -->`.

export function replacePart(document, name, content) {
  const { start, end } = boundsOf(document, name);
  return `${document.slice(0, start)}\n${content}\n${document.slice(end)}`;
}

export function partOf(document, name) {
  const { start, end } = boundsOf(document, name);
  return document.slice(start, end).trim();
}

function boundsOf(document, name) {
  const opening = document.indexOf(`<!-- ${name}:`);
  const start = opening < 0 ? -1 : document.indexOf('-->', opening) + 3;
  const end = document.indexOf(`<!-- end of ${name} -->`);
  if (start < 3 || end < start) throw new Error(`no part between <!-- ${name}: … --> and <!-- end of ${name} -->`);
  return { start, end };
}
