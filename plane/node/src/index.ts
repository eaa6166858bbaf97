export { type RemovalOptions, removeEverything } from './sandbox/removal.js';
