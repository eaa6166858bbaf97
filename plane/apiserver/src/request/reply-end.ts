import type { ApiRequest, ResponseWriter } from '../server/http.js';

/** Runs `callback` when the reply has ended or its client is gone, whichever transport it is: perhaps twice. */
export function onReplyEnd(request: ApiRequest, writer: ResponseWriter, callback: () => void): ResponseWriter {
  request.onClose(callback);
  return {
    head: (status, headers) => writer.head(status, headers),
    write: (chunk) => writer.write(chunk),
    end: (chunk) => {
      writer.end(chunk);
      callback();
    },
    onDrain: (drained) => writer.onDrain(drained),
    get isEnded() {
      return writer.isEnded;
    },
    ...(writer.switchProtocols === undefined ? {} : { switchProtocols: writer.switchProtocols }),
  };
}
