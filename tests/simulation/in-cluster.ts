import { type TestCluster, testCluster } from '@castellan/testkit';

/** A story in a cluster of its own, on a virtual clock. */
export async function inCluster(work: (cluster: TestCluster) => Promise<void>): Promise<void> {
  const cluster = await testCluster({ clock: 'virtual' });
  try {
    await work(cluster);
  } finally {
    await cluster.stop();
  }
}
