import { type FieldError, fieldError } from '@castellan/machinery';

const maxPort = 65_535;
const maxNameLength = 15;

/** What is wrong with a port's name (an IANA service name). */
export function portNameProblems(name: string): readonly string[] {
  return [
    ...(name.length > maxNameLength ? [`must be no more than ${maxNameLength} characters`] : []),
    ...(/^[-a-z0-9]+$/.test(name) ? [] : ['must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)']),
    ...(/[a-z]/i.test(name) ? [] : ['must contain at least one letter (a-z)']),
    ...(name.includes('--') ? ['must not contain consecutive hyphens'] : []),
    ...(name.startsWith('-') || name.endsWith('-') ? ['must not begin or end with a hyphen'] : []),
  ];
}

/** A port by number or by name. */
export function portReferenceErrors(port: unknown, path: string): readonly FieldError[] {
  if (typeof port === 'string') return portNameProblems(port).map((problem) => fieldError.invalid(path, port, problem));
  const number = typeof port === 'number' ? port : 0;
  return number >= 1 && number <= maxPort
    ? []
    : [fieldError.invalid(path, number, `must be between 1 and ${maxPort}, inclusive`)];
}
