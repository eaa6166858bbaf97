// The least that a server of durable writes does in Node: an HTTPS request's body is appended to a file and synced, then
// whoever watches gets a line, and the writer its reply. Nothing is parsed, authorised, validated or kept.
//     node floor-server.mjs DIRECTORY       of a plane, whose certificate it takes; prints its port
import { constants, openSync, readFileSync, write } from 'node:fs';
import { createSecureServer } from 'node:http2';
import { join } from 'node:path';

const directory = process.argv[2];
const pki = (name) => readFileSync(join(directory, 'pki', name));
const { O_WRONLY, O_CREAT, O_APPEND, O_DSYNC } = constants;
const file = openSync(join(directory, 'floor'), O_WRONLY | O_CREAT | O_APPEND | O_DSYNC);
const watchers = new Set();

const server = createSecureServer({ key: pki('server.key'), cert: pki('server.crt') });
server.on('stream', (stream, headers) => {
  stream.on('error', () => {});
  if (headers[':method'] === 'GET') {
    stream.respond();
    watchers.add(stream);
    stream.on('close', () => watchers.delete(stream));
    return;
  }
  const chunks = [];
  stream.on('data', (chunk) => chunks.push(chunk));
  stream.on('end', () => {
    const body = Buffer.concat(chunks);
    const begunMs = performance.now();
    write(file, body, 0, body.length, null, (error) => {
      if (error) throw error;
      const line = `${JSON.stringify({ diskMs: performance.now() - begunMs, padding: body.toString() })}\n`;
      for (const watcher of watchers) watcher.write(line);
      stream.respond({ ':status': 201 });
      stream.end(body);
    });
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
