import { arch } from 'node:os';
import { restrictedCalls } from './system-calls.js';

/** Classic BPF, as seccomp(2) takes it. */
const loadWord = 0x20;
const jumpIfEqual = 0x15;
const jumpIfAtLeast = 0x35;
const jumpIfSet = 0x45;
const answer = 0x06;

/** Where a filter finds what is asked, in struct seccomp_data. */
const numberOffset = 0;
const archOffset = 4;
const firstArgumentOffset = 16;

const allow = 0x7fff0000;
const refuse = 0x00050000;
const notPermitted = 1;
const notImplemented = 38;

/** Programs of x86 that use 64-bit registers and 32-bit addresses have numbers of their own from here on. */
const x32Numbers = 0x40000000;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const newNamespaces = 0x7e020000;
/** Its arguments are behind a pointer, where no filter looks; programs do without it when it is not there. */
const clone3 = 435;

interface Processor {
  /** AUDIT_ARCH_* of linux/audit.h. */
  readonly arch: number;
  readonly clone: number;
}

const processors: Readonly<Record<'x64' | 'arm64', Processor>> = {
  x64: { arch: 0xc000003e, clone: 56 },
  arm64: { arch: 0xc00000b7, clone: 220 },
};

/**
 * The filter of a container with the profile RuntimeDefault and these capabilities, as `bwrap --seccomp` reads it: refuses
 * (EPERM) what container runtimes refuse by default, new namespaces among it, and programs for other processors (ENOSYS).
 * Undefined for a processor that we have no numbers of.
 */
export function defaultFilter(capabilities: readonly string[], processor: string = arch()): Buffer | undefined {
  if (processor !== 'x64' && processor !== 'arm64') return undefined;
  const known = processors[processor];
  const refused = restrictedCalls.flatMap((call) => {
    const number = call[processor];
    const isAllowed = call.allowedBy !== undefined && capabilities.includes(call.allowedBy);
    return number === undefined || isAllowed ? [] : [number];
  });
  const refusal = instruction(answer, refuse | notPermitted);
  const absence = instruction(answer, refuse | notImplemented);
  return Buffer.concat([
    instruction(loadWord, archOffset),
    ...unless(jumpIfEqual, known.arch, absence),
    instruction(loadWord, numberOffset),
    ...(processor === 'x64' ? when(jumpIfAtLeast, x32Numbers, absence) : []),
    ...refused.flatMap((number) => when(jumpIfEqual, number, refusal)),
    ...(capabilities.includes('CAP_SYS_ADMIN')
      ? []
      : [
          ...when(jumpIfEqual, clone3, absence),
          instruction(jumpIfEqual, known.clone, { otherwise: 3 }),
          instruction(loadWord, firstArgumentOffset),
          ...when(jumpIfSet, newNamespaces, refusal),
        ]),
    instruction(answer, allow),
  ]);
}

function when(test: number, value: number, then: Buffer): readonly Buffer[] {
  return [instruction(test, value, { otherwise: 1 }), then];
}

function unless(test: number, value: number, then: Buffer): readonly Buffer[] {
  return [instruction(test, value, { taken: 1 }), then];
}

/** One struct sock_filter, in the machine's byte order: every machine that we know numbers of is little-endian. */
function instruction(
  code: number,
  value: number,
  jump: { readonly taken?: number; readonly otherwise?: number } = {},
): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(jump.taken ?? 0, 2);
  bytes.writeUInt8(jump.otherwise ?? 0, 3);
  bytes.writeUInt32LE(value >>> 0, 4);
  return bytes;
}
