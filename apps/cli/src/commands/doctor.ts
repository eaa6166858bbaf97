import { existsSync } from 'node:fs';
import type { Context, Run } from '../context.js';
import { filesIn } from '../data-directory.js';
import { checkPlane } from '../doctor/check-plane.js';
import { checkPods } from '../doctor/check-pods.js';
import { checkSurroundings } from '../doctor/check-surroundings.js';
import type { Finding } from '../doctor/finding.js';
import { CliError, toCliError } from '../errors.js';
import { withPlane } from '../plane/connect-to-plane.js';
import { observePlane } from '../plane/observe-plane.js';
import { readLiveProcessRecord } from '../plane/process-record.js';
import { defaultPort } from '../plane/up-options.js';

const marks = { ok: '✓', warning: '!', problem: '✗' } as const;

/** Looks at the machine, and at the plane when there is one; fails when something will not work. */
export const doctor: Run = async (context) => {
  const findings = [...(await machineFindings(context)), ...(await planeFindings(context))];
  context.reporter.result({ findings }, () => findings.map(describe).join('\n'));
  const problems = findings.filter(({ severity }) => severity === 'problem');
  if (problems.length === 0) return undefined;
  const subjects = problems.map(({ subject }) => subject).join(', ');
  throw new CliError('MACHINE_NOT_READY', `${problems.length} of ${findings.length} checks failed: ${subjects}.`, {
    next: 'do what stands beside each ✗ above, then `castellan doctor`',
  });
};

async function machineFindings({ dataDirectory, isRoot }: Context): Promise<readonly Finding[]> {
  const isPlaneRunning = readLiveProcessRecord(filesIn(dataDirectory).processRecord) !== undefined;
  const surroundings = checkSurroundings({ dataDirectory, port: defaultPort, isPlaneRunning, isRoot });
  return [...(await checkPods(isRoot)), ...(await surroundings)];
}

async function planeFindings(context: Context): Promise<readonly Finding[]> {
  const { kubeconfig, processRecord } = filesIn(context.dataDirectory);
  const isExpected = readLiveProcessRecord(processRecord) !== undefined;
  if (!existsSync(kubeconfig)) return [];
  try {
    const view = await withPlane(context, (client) => observePlane(context, client));
    return checkPlane(view, `kubectl --kubeconfig ${kubeconfig}`);
  } catch (error) {
    const expected = toCliError(error);
    if (expected === undefined) throw error;
    const { message: evidence, next } = expected;
    return [
      {
        severity: isExpected ? 'problem' : 'ok',
        subject: 'plane',
        evidence: isExpected ? evidence : 'none runs',
        next,
      },
    ];
  }
}

function describe({ severity, subject, evidence, next }: Finding): string {
  return `${marks[severity]} ${subject}: ${evidence}${next === undefined || severity === 'ok' ? '' : `\n    Next: ${next}`}`;
}
