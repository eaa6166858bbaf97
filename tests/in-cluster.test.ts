import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isStatusError, type Pod, pods } from '@castellan/machinery';
import { waitFor } from '@castellan/world';
import { PlaneProcess, world } from './plane-process.js';

let plane: PlaneProcess;

before(async () => {
  plane = await PlaneProcess.create();
  await plane.up();
});
after(async () => await plane.remove());

const place = '/var/run/secrets/kubernetes.io/serviceaccount';

test('a pod reaches the API server by its name, with the token and the certificate in its files', async () => {
  const client = await plane.client();
  const call = `curl --silent --show-error --max-time 10 --cacert ${place}/ca.crt -H "Authorization: Bearer $(cat ${place}/token)"`;
  const script = [
    `cat ${place}/namespace; echo`,
    `${call} -H 'Content-Type: application/json' -d '{}' https://kubernetes.default.svc/apis/authentication.k8s.io/v1/selfsubjectreviews`,
    `${call} https://kubernetes.default.svc/api/v1/secrets`,
    `${call} https://$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT/version`,
  ].join('\n');
  const container = { name: 'main', image: 'busybox:1.28', command: ['/bin/sh', '-ec', script] };
  const key = { namespace: 'default', name: 'asks' };
  await waitFor(world, () => created(key, container), { what: 'the pod to be let in', deadlineMs: 10_000 });
  const pod = await waitFor(
    world,
    async () => {
      const seen = await client.get(pods, key);
      return seen.status?.phase === 'Succeeded' || seen.status?.phase === 'Failed' ? seen : undefined;
    },
    { what: 'the pod to end', deadlineMs: 30_000 },
  );
  const { text } = await plane.read('/api/v1/namespaces/default/pods/asks/log');
  assert.equal(pod.status?.phase, 'Succeeded', text);
  assert.match(text, /^default$/m);
  assert.match(text, /"username":"system:serviceaccount:default:default"/);
  assert.match(text, new RegExp(`"authentication.kubernetes.io/pod-uid":\\["${pod.metadata.uid}"\\]`));
  assert.match(text, /User \\"system:serviceaccount:default:default\\" cannot list resource \\"secrets\\"/);
  assert.match(text, /"gitVersion":"v1\./);
});

/** A plane that is just up may not have made the account by which pods are let in. */
async function created(
  key: { readonly namespace: string; readonly name: string },
  container: NonNullable<Pod['spec']>['containers'][number],
): Promise<boolean> {
  const client = await plane.client();
  try {
    await client.create<Pod>(pods, { metadata: key, spec: { restartPolicy: 'Never', containers: [container] } });
    return true;
  } catch (error) {
    if (isStatusError(error, 'Forbidden')) return false;
    throw error;
  }
}
