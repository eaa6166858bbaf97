import { type EtcdCluster, longestClusterName, sizes } from './api/etcd-cluster.js';
import type { EtcdDesired } from './observation.js';

/** What an EtcdCluster asks for; with `problem` where it cannot be had. */
export function desiredOf(cluster: EtcdCluster): EtcdDesired {
  const problem = problemOf(cluster);
  const desired = {
    name: cluster.metadata.name ?? '',
    size: cluster.spec.size,
    isPaused: cluster.spec.paused === true,
  };
  return problem === undefined ? desired : { ...desired, problem };
}

/** The version asked for, without the leading `v`. */
export function targetVersionOf({ spec }: EtcdCluster): string {
  return spec.version.replace(/^v/, '');
}

function problemOf({ metadata, spec }: EtcdCluster): EtcdDesired['problem'] {
  const length = metadata.name?.length ?? 0;
  if (length > longestClusterName) {
    return {
      reason: `metadata.name has ${length} characters; pods named after it would not be host names`,
      remedy: `create the cluster under a name of at most ${longestClusterName} characters`,
    };
  }
  if (!Number.isInteger(spec.size) || spec.size < sizes.smallest || spec.size > sizes.largest) {
    return {
      reason: `spec.size is ${JSON.stringify(spec.size)}`,
      remedy: `set it to a whole number from ${sizes.smallest} to ${sizes.largest}`,
    };
  }
  if (!/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(spec.version.replace(/^v/, ''))) {
    return { reason: `spec.version is ${JSON.stringify(spec.version)}`, remedy: 'set it to a version such as 3.4.23' };
  }
  // Going on without what was asked for would be worse than not going on.
  if (spec.TLS?.static !== undefined) {
    return { reason: 'spec.TLS is not supported yet', remedy: 'remove spec.TLS to run without encryption' };
  }
  if (spec.pod?.persistentVolumeClaimSpec !== undefined) {
    const field = 'spec.pod.persistentVolumeClaimSpec';
    return { reason: `${field} is not supported yet`, remedy: `remove ${field} to keep data in the pods' own volumes` };
  }
  return undefined;
}
