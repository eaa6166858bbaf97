export { ProcessWorld } from './process-world.js';
export { nameAlphabet } from './random.js';
export { realWorld } from './real-world.js';
export { SimulatedWorld, simulatedEpochMs, simulatedWorld } from './simulated-world.js';
export { DeadlineError, type WaitOptions, waitFor } from './wait-for.js';
export type { Cancel, Clock, Random, World } from './world.js';
