import { checkMachine, type MachineFinding } from '@castellan/embedded';
import type { Finding } from './finding.js';

/** Tried as root only: an ordinary user may do these inside a user namespace. */
const needRoot = ['root', 'network namespaces', 'bridge'];

/** What the node agent needs of the machine, each thing tried for real. */
export async function checkPods(isRoot: boolean): Promise<readonly Finding[]> {
  const found = await checkMachine();
  return found.filter(({ name }) => isRoot || !needRoot.includes(name)).map(toFinding);
}

function toFinding({ name, ok, isOptional, evidence, next }: MachineFinding): Finding {
  if (ok) return { severity: 'ok', subject: name, evidence };
  return { severity: isOptional ? 'warning' : 'problem', subject: name, evidence, ...(next === '' ? {} : { next }) };
}
