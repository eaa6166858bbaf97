import { existsSync } from 'node:fs';
import type { Client } from '@castellan/client';
import type { Context, Run } from '../context.js';
import { filesIn } from '../data-directory.js';
import { toCliError } from '../errors.js';
import { describePlan, type Plan, planFor } from '../etcd/plan-view.js';
import type { ManifestObject } from '../manifest/parse-manifest.js';
import { readManifest } from '../manifest/read-manifest.js';
import { readText, withPlane } from '../plane/connect-to-plane.js';

/** Prints what applying a manifest would lead to, from what there is now. Reads only. */
export const plan: Run = async (context, options) => {
  const objects = await readManifest(context, options);
  const isPlaneThere = await answers(context);
  const planned = isPlaneThere
    ? await withPlane(context, (client) => planAll(context, objects, client))
    : await planAll(context, objects);
  const basis = isPlaneThere
    ? 'from what the plane has now'
    : 'no plane runs here: planned as if none of it existed yet';
  context.reporter.result({ basis, plans: planned }, () =>
    planned
      .flatMap(({ name, plan: each }) => [`plan for ${name} (${basis})`, ...describePlan(each), ''])
      .join('\n')
      .trimEnd(),
  );
};

interface NamedPlan {
  readonly name: string;
  readonly plan: Plan;
}

async function planAll(
  context: Context,
  objects: readonly ManifestObject[],
  client?: Client,
): Promise<readonly NamedPlan[]> {
  const plans: NamedPlan[] = [];
  for (const object of objects) {
    const { namespace = 'default', name } = object.metadata;
    plans.push({ name: `${object.kind} ${namespace}/${name}`, plan: await planFor(object, context.world, client) });
  }
  return plans;
}

/** A plane that ran once and does not run now is no reason not to plan. */
async function answers(context: Context): Promise<boolean> {
  if (!existsSync(filesIn(context.dataDirectory).kubeconfig)) return false;
  try {
    return (await withPlane(context, (client) => readText(client, '/readyz'))).status === 200;
  } catch (error) {
    if (toCliError(error)?.code === 'NO_PLANE') return false;
    throw error;
  }
}
