// @castellan/runtime in the comparison of bench/runtime.mjs: holds all pods of SERVER, or the PART of each.
import { connect } from '@castellan/client';
import { pods } from '@castellan/machinery';
import { Informer, metadataOf, pick } from '@castellan/runtime';
import { realWorld } from '@castellan/world';
import { reporter } from './report.mjs';

const types = {
  whole: pods,
  picked: pick(pods, ['status.conditions', 'spec.nodeName']),
  metadata: metadataOf(pods),
};
const world = realWorld();
const client = connect({ server: process.env.SERVER }, { world });
const report = reporter();
const informer = new Informer({ client, world, type: types[process.env.PART ?? 'whole'] });
informer.addHandler(({ kind, object }) => report.onChange(kind, object));
await informer.run(new AbortController().signal);
