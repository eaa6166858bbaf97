export { schedulerController } from './scheduler-controller.js';
