import { type Amounts, largerAmounts, parseAmounts, sumOfAmounts } from './amounts.js';
import { fieldAt, itemsAt } from './field.js';

const none: Amounts = new Map();

/**
 * What a pod asks for: its containers and sidecars together, or what it needs at most while it is initialised, where that is
 * more; what the pod says as a whole goes before that; and the overhead of its runtime class. Source: KEP-753, KEP-2837.
 */
export function podAmounts(pod: unknown, kind: 'requests' | 'limits'): Amounts {
  const amountsOf = (container: unknown) => parseAmounts(fieldAt(container, 'resources', kind));
  let sidecars = none;
  let initial = none;
  for (const container of itemsAt(pod, 'spec', 'initContainers')) {
    const own = amountsOf(container);
    const isSidecar = fieldAt(container, 'restartPolicy') === 'Always';
    // A sidecar runs on beside those that are started after it.
    if (isSidecar) sidecars = sumOfAmounts(sidecars, own);
    initial = largerAmounts(initial, isSidecar ? sidecars : sumOfAmounts(sidecars, own));
  }
  const running = itemsAt(pod, 'spec', 'containers').map(amountsOf).reduce(sumOfAmounts, sidecars);
  const whole = parseAmounts(fieldAt(pod, 'spec', 'resources', kind));
  const all = new Map([...largerAmounts(running, initial), ...whole]);
  return sumOfAmounts(all, parseAmounts(fieldAt(pod, 'spec', 'overhead')));
}
