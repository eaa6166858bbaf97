export type {
  Client,
  DeleteOptions,
  ListOptions,
  Patch,
  RawRequest,
  RawResponse,
  ReadOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './client.js';
