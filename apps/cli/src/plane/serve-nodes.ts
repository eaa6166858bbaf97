import { chmodSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { PlaneNodes } from '@castellan/embedded';
import { isStatusError } from '@castellan/machinery';

export interface NodeServer {
  close(): Promise<void>;
}

/** For `castellan node`: GET /nodes, POST /nodes/NAME/start and /nodes/NAME/stop. Whoever may read the kubeconfig may ask. */
export async function serveNodes(nodes: PlaneNodes, path: string): Promise<NodeServer> {
  // Of a plane that was killed.
  rmSync(path, { force: true });
  const server = createServer((request, response) => {
    answer(nodes, request, response).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      response.writeHead(isStatusError(error, 'NotFound') ? 404 : 500).end(`${message}\n`);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  chmodSync(path, 0o600);
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  nodes: PlaneNodes,
  { method, url = '' }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [, place, name, verb] = url.split('/').map(decodeURIComponent);
  const isAction = method === 'POST' && name !== undefined && (verb === 'start' || verb === 'stop');
  if (place !== 'nodes' || (!isAction && (method !== 'GET' || name !== undefined))) {
    response.writeHead(404).end('GET /nodes, POST /nodes/NAME/start and POST /nodes/NAME/stop are answered here\n');
    return;
  }
  if (isAction) await nodes[verb](name);
  response.writeHead(200, { 'content-type': 'application/json' }).end(`${JSON.stringify(nodes.list())}\n`);
}
