// @kubernetes/client-node in the comparison of bench/runtime.mjs: holds all pods of SERVER. MODULES is where it is installed.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { reporter } from './report.mjs';

const path = createRequire(`${process.env.MODULES}/`).resolve('@kubernetes/client-node');
const { CoreV1Api, KubeConfig, makeInformer } = await import(pathToFileURL(path));
const config = new KubeConfig();
config.loadFromOptions({
  clusters: [{ name: 'bench', server: process.env.SERVER, skipTLSVerify: true }],
  users: [{ name: 'bench' }],
  contexts: [{ name: 'bench', cluster: 'bench', user: 'bench' }],
  currentContext: 'bench',
});
const api = config.makeApiClient(CoreV1Api);
const report = reporter();
const informer = makeInformer(config, '/api/v1/pods', () => api.listPodForAllNamespaces());
informer.on('add', (pod) => report.onChange('added', pod));
informer.on('update', (pod) => report.onChange('updated', pod));
informer.on('delete', (pod) => report.onChange('deleted', pod));
// It ends its watch at an error, and leaves it to the program to begin anew.
informer.on('error', () => void informer.start());
await informer.start();
