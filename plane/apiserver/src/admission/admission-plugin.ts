import type { ApiObject } from '../json.js';
import type { AdmissionChange, AdmissionWrite } from '../registry/admission-control.js';
import type { Server } from '../request/server.js';
import type { User } from '../server/http.js';

/** The request that a write belongs to. */
export interface AdmissionContext {
  readonly server: Server;
  readonly user: User;
  readonly isDryRun: boolean;
  /** A line that kubectl shows beside the result. */
  warn(warning: string): void;
  /** A line for the audit log. */
  annotate(key: string, value: string): void;
}

/** One rule of admission. Only asked about writes that it handles. */
export interface AdmissionPlugin {
  handles(write: AdmissionWrite): boolean;
  mutate?(write: AdmissionChange, context: AdmissionContext): ApiObject | Promise<ApiObject>;
  validate?(write: AdmissionWrite, context: AdmissionContext): void | Promise<void>;
}

/** Writes of objects of one core kind, not of their subresources. */
function isWriteOf({ definition, subresource }: AdmissionWrite, group: string, plural: string): boolean {
  return definition.group === group && definition.plural === plural && subresource === '';
}

export function isCreateOf(write: AdmissionWrite, group: string, plural: string): boolean {
  return write.operation === 'CREATE' && isWriteOf(write, group, plural);
}

export function isUpdateOf(write: AdmissionWrite, group: string, plural: string): boolean {
  return write.operation === 'UPDATE' && isWriteOf(write, group, plural);
}
