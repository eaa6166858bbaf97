import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { requireCommand } from '../sandbox/command.js';
import { runNft } from './run-nft.js';

/** There when the kernel has br_netfilter; its value is that of all bridges of this network namespace. */
const allBridges = '/proc/sys/net/bridge/bridge-nf-call-iptables';

/**
 * Has what pods send each other over the bridge go through the packet filter, and the bridge forward what the filter sends elsewhere.
 * Rejects when the kernel cannot, or does not let us. Ends with the bridge.
 */
export async function filterBridge(bridge: string): Promise<void> {
  if (!existsSync(allBridges)) throw new Error('the kernel has no br_netfilter; next: modprobe br_netfilter');
  if (readFileSync(allBridges, 'utf8').trim() !== '1') {
    await assertForwarding();
    await requireCommand('ip', ['link', 'set', bridge, 'type', 'bridge', 'nf_call_iptables', '1']);
  }
  const settings = `/proc/sys/net/ipv4/conf/${bridge}`;
  // Pods are told of no shorter way: it would pass by the filter.
  writeFileSync(`${settings}/send_redirects`, '0');
  writeFileSync(`${settings}/forwarding`, '1');
}

/** Docker and firewalls drop what is forwarded and not theirs: the bridge's traffic is better not shown to them, if it is not already. */
async function assertForwarding(): Promise<void> {
  const { stdout } = await runNft(['list chains ip']);
  if (!/hook forward [^;]*; policy drop;/.test(stdout)) return;
  throw new Error('another program drops what is forwarded (see `nft list chains`), and would drop traffic of pods');
}
