export type { Cancel, Clock, Random, World } from './world.js';
