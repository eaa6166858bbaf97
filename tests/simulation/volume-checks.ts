import { persistentVolumeClaims, persistentVolumes, pods } from '@castellan/machinery';
import type { OperatorScenario, TestCluster } from '@castellan/testkit';
import { statefulSetChecks } from './stateful-set-checks.js';

/** A set of pods with a claim each that grows and shrinks: claims are bound, volumes made and removed. `process` meets the faults. */
export function volumeChecks(process: 'plane' | 'nodes'): OperatorScenario {
  return {
    ...statefulSetChecks,
    name: `volumes-${process}`,
    process,
    settled: (cluster, spec) => statefulSetChecks.settled(cluster, spec) && isTidy(cluster),
    outcome: [persistentVolumeClaims, persistentVolumes],
    mayDiffer: {
      PersistentVolumeClaim: ['spec.volumeName', 'metadata.annotations'],
      PersistentVolume: ['spec.claimRef.resourceVersion', 'spec.local.path', 'spec.nodeAffinity'],
    },
    path: /persistentvolume/,
  };
}

/** Each claim has a volume, each volume its directory, and there is none besides; every pod is where its volume is. */
function isTidy({ state, volumes }: TestCluster): boolean {
  const claims = state.list(persistentVolumeClaims);
  const made = state.list(persistentVolumes);
  const names = made.map(({ metadata }) => metadata.name ?? '').sort();
  return (
    claims.every(({ status }) => status?.phase === 'Bound') &&
    made.every(({ status }) => status?.phase === 'Bound') &&
    claims
      .map(({ spec }) => spec?.volumeName ?? '')
      .sort()
      .join() === names.join() &&
    [...volumes.names].sort().join() === names.join() &&
    state.list(pods).every(({ spec, metadata }) => {
      const volume = made.find(({ spec: own }) => own?.claimRef?.name === `data-${metadata.name}`);
      return JSON.stringify(volume?.spec?.nodeAffinity ?? '').includes(`"${spec?.nodeName}"`);
    })
  );
}
