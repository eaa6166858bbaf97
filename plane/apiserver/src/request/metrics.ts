import { readdirSync } from 'node:fs';
import type { Exchange } from './exchange.js';
import { heading, storedObjects } from './request-metrics.js';
import type { Server } from './server.js';
import { versionInfo } from './version.js';

const contentType = 'text/plain; version=0.0.4; charset=utf-8';

/** `/metrics`: what Prometheus reads. Source: its text format 0.0.4; the names are kube-apiserver's and of Prometheus' clients. */
export async function serveMetrics(server: Server, { reply }: Exchange): Promise<void> {
  const { read, write, stream } = server.inFlight.present();
  const lines = [
    ...server.metrics.lines(),
    ...heading('apiserver_current_inflight_requests', 'gauge', 'Requests under way, streams left out.'),
    `apiserver_current_inflight_requests{request_kind="readOnly"} ${read}`,
    `apiserver_current_inflight_requests{request_kind="mutating"} ${write}`,
    ...heading('apiserver_longrunning_requests', 'gauge', 'Watches, logs and other streams under way.'),
    `apiserver_longrunning_requests ${stream}`,
    ...(await storedObjects(server)),
    ...heading('kubernetes_build_info', 'gauge', 'The release that this server speaks.'),
    `kubernetes_build_info{git_version="${versionInfo.gitVersion}",major="${versionInfo.major}",minor="${versionInfo.minor}"} 1`,
    ...processLines(),
  ];
  reply.text(200, `${lines.join('\n')}\n`, contentType);
}

function processLines(): readonly string[] {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  const startedSeconds = Date.now() / 1000 - process.uptime();
  const files = openFiles();
  return [
    ...heading('process_cpu_seconds_total', 'counter', 'Time on processors, of this whole process.'),
    `process_cpu_seconds_total ${(user + system) / 1e6}`,
    ...heading('process_resident_memory_bytes', 'gauge', 'Memory of this whole process.'),
    `process_resident_memory_bytes ${rss}`,
    ...heading('nodejs_heap_size_used_bytes', 'gauge', 'JavaScript objects in memory.'),
    `nodejs_heap_size_used_bytes ${heapUsed}`,
    ...heading('process_start_time_seconds', 'gauge', 'When this process started, since the Unix epoch.'),
    `process_start_time_seconds ${startedSeconds.toFixed(2)}`,
    ...(files === undefined
      ? []
      : [...heading('process_open_fds', 'gauge', 'Files and connections that are open.'), `process_open_fds ${files}`]),
  ];
}

/** Known on Linux only. */
function openFiles(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return undefined;
  }
}
