import type { ApiRequest, ResponseWriter } from '../server/http.js';

/**
 * Runs `callback` when the reply has ended or its client is gone, whichever transport it is: perhaps twice. It is told the
 * reply's status, 0 when none was sent.
 */
export function onReplyEnd(
  request: ApiRequest,
  writer: ResponseWriter,
  callback: (status: number) => void,
): ResponseWriter {
  const { switchProtocols } = writer;
  let sent = 0;
  request.onClose(() => callback(sent));
  return {
    head: (status, headers) => {
      sent = status;
      writer.head(status, headers);
    },
    write: (chunk) => writer.write(chunk),
    end: (chunk) => {
      writer.end(chunk);
      callback(sent);
    },
    onDrain: (drained) => writer.onDrain(drained),
    get isEnded() {
      return writer.isEnded;
    },
    ...(switchProtocols === undefined
      ? {}
      : {
          switchProtocols: (headers) => {
            sent = 101;
            return switchProtocols(headers);
          },
        }),
  };
}
