import assert from 'node:assert/strict';
import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { issueAuthority, type KeyedCertificate } from '@castellan/certificates';
import { realWorld, waitFor } from '@castellan/world';
import { Metrics } from '../observe/metrics.js';
import { webhookMetrics } from '../observe/webhook-metrics.js';
import { CertificateFiles } from './certificate-files.js';

const world = realWorld();

/** Any pair of certificate and key will do. */
const newPair = (name: string): KeyedCertificate => issueAuthority(name, { nowMs: Date.now() });

async function followed(t: TestContext, first: KeyedCertificate) {
  const directory = await mkdtemp(join(tmpdir(), 'castellan-certificates-'));
  const certificatePath = join(directory, 'tls.crt');
  const keyPath = join(directory, 'tls.key');
  const write = async (pair: KeyedCertificate) => {
    await writeFile(keyPath, pair.key);
    await writeFile(certificatePath, pair.certificate);
  };
  await write(first);
  const warnings: string[] = [];
  const log = { debug: () => {}, info: () => {}, warn: (text: string) => void warnings.push(text), error: () => {} };
  const files = new CertificateFiles({ world, log, certificatePath, keyPath, everyMs: 5 });
  assert.deepEqual(await files.read(), first);
  let current = first;
  let changes = 0;
  const stop = new AbortController();
  const following = files.follow((changed) => {
    current = changed;
    changes += 1;
  }, stop.signal);
  t.after(async () => {
    stop.abort();
    await following;
    await rm(directory, { recursive: true });
  });
  const until = (what: string, isSo: () => boolean) =>
    waitFor(world, async () => isSo(), { what: () => what, deadlineMs: 10_000, everyMs: 2 });
  const uses = (pair: KeyedCertificate) =>
    until('the new certificate to be used', () => current.certificate === pair.certificate && current.key === pair.key);
  return {
    directory,
    certificatePath,
    keyPath,
    write,
    warnings,
    until,
    uses,
    current: () => current,
    changes: () => changes,
  };
}

test('WH7, 92: a certificate is read again when its files are written', async (t) => {
  const files = await followed(t, newPair('first'));
  const second = newPair('second');
  await files.write(second);
  await files.uses(second);
  assert.equal(files.changes(), 1);
});

test('WH7, 92: a certificate is read again when other files are renamed over its own', async (t) => {
  const files = await followed(t, newPair('first'));
  const second = newPair('second');
  await writeFile(join(files.directory, 'new.key'), second.key);
  await writeFile(join(files.directory, 'new.crt'), second.certificate);
  await rename(join(files.directory, 'new.key'), files.keyPath);
  await rename(join(files.directory, 'new.crt'), files.certificatePath);
  await files.uses(second);
});

test('WH7, 92: while its files are moved away a certificate is kept, and those that come back are read', async (t) => {
  const first = newPair('first');
  const files = await followed(t, first);
  const away = join(files.directory, 'away.crt');
  await rename(files.certificatePath, away);
  await files.until('a warning', () => files.warnings.length > 0);
  assert.match(files.warnings[0] ?? '', /the certificate before is kept: ENOENT/);
  assert.deepEqual(files.current(), first);
  const second = newPair('second');
  await writeFile(away, second.certificate);
  await writeFile(files.keyPath, second.key);
  await rename(away, files.certificatePath);
  await files.uses(second);
});

test('WH7, 92: a bad file is warned of once, and the certificate before is kept', async (t) => {
  const first = newPair('first');
  const files = await followed(t, first);
  await writeFile(files.certificatePath, 'not a certificate');
  await files.until('a warning', () => files.warnings.length > 0);
  await files.write(newPair('second'));
  await files.until('the good files to be used', () => files.changes() === 1);
  assert.equal(files.warnings.length, 1);
  assert.match(files.warnings[0] ?? '', /are not a certificate and its key in PEM/);
});

test('WH7, 92: files behind a link, as in a mounted Secret, are read again when the link changes', async (t) => {
  const files = await followed(t, newPair('first'));
  const second = newPair('second');
  const behind = join(files.directory, 'behind');
  await writeFile(`${behind}.key`, second.key);
  await writeFile(`${behind}.crt`, second.certificate);
  await symlink(`${behind}.key`, join(files.directory, 'link.key'));
  await symlink(`${behind}.crt`, join(files.directory, 'link.crt'));
  await rename(join(files.directory, 'link.key'), files.keyPath);
  await rename(join(files.directory, 'link.crt'), files.certificatePath);
  await files.uses(second);
});

test('WH9 reads of a certificate are counted, and those that failed', async (t) => {
  const { certificatePath, keyPath } = await followed(t, newPair('first'));
  const metrics = new Metrics();
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const observer = webhookMetrics(metrics);
  const files = new CertificateFiles({ world, log, certificatePath, keyPath, observer });
  await files.read();
  await writeFile(certificatePath, 'not a certificate');
  await assert.rejects(files.read());
  assert.match(metrics.text(), /^certwatcher_read_certificate_total 2$/m);
  assert.match(metrics.text(), /^certwatcher_read_certificate_errors_total 1$/m);
});
