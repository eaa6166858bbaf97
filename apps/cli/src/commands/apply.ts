import type { Run } from '../context.js';
import { CliError, toCliError } from '../errors.js';
import { applyObject, nameForPeople } from '../manifest/apply-object.js';
import { findResource } from '../manifest/find-resource.js';
import { readManifest } from '../manifest/read-manifest.js';
import { withPlane } from '../plane/connect-to-plane.js';

/** Applies every object that it can; fails at the end with all that was refused. */
export const apply: Run = async (context, options) => {
  const objects = await readManifest(context, options);
  await withPlane(context, async (client) => {
    const applied: { readonly name: string; readonly action: string }[] = [];
    const failures: CliError[] = [];
    for (const object of objects) {
      try {
        const type = await findResource(client, object);
        applied.push({ name: nameForPeople(type, object), action: await applyObject(client, type, object) });
      } catch (error) {
        const expected = toCliError(error);
        if (expected === undefined) throw error;
        failures.push(expected);
      }
    }
    context.reporter.result({ applied, failed: failures.map(({ code, message }) => ({ code, message })) }, () =>
      applied.map(({ name, action }) => `${name} ${action}`).join('\n'),
    );
    throwTogether(failures);
  });
};

function throwTogether(failures: readonly CliError[]): void {
  const [first] = failures;
  if (first === undefined) return;
  const message = failures.map((failure) => failure.message).join('\n');
  throw new CliError(first.code, message, { next: first.next, cause: first });
}
