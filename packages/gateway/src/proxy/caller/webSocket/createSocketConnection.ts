import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { formatRejection } from '../../../errors/rejection.ts'
import type { Rejection } from '../../../errors/rejection.ts'
import { createBufferedBytes, dropAllBytes, dropBytes, holdBytes } from '../../../lib/memoryBudget.ts'
import type { BufferedBytes, BufferKind } from '../../../lib/memoryBudget.ts'
import type { Network } from '../../../lib/network.ts'
import { toTextFrames } from '../../../lib/textFrames.ts'
import { unpin } from '../../../lib/unpin.ts'
import type { CallPath } from '../../http/parsePath.ts'
import type { AuthorizedRequest } from '../../request/requestContext.ts'
import type { Subscriber } from '../../subscription/subscriptionHub.ts'
import { closeConnection, isOpen, terminateConnection } from './closeConnection.ts'
import { closeCodes, faultCloses } from './closeReasons.ts'
import type { CloseReason } from './closeReasons.ts'
import { createMessageReader } from './createMessageReader.ts'
import { createSubscriber } from './createSubscriber.ts'
import { createTurnWriter } from './createTurnWriter.ts'
import { addMessage, createMessages, disconnectMessages } from './handleMessages.ts'
import {
  addNotifications,
  chargeNotifications,
  createNotificationUsage,
  meterOpening,
} from './createNotificationUsage.ts'
import type { SocketConnection, SocketServerState } from './socketConnection.ts'

/** A WebSocket that was accepted. */
export interface AcceptedSocket {
  readonly ws: WebSocket
  readonly socket: Duplex
  readonly authorized: AuthorizedRequest
  readonly path: CallPath
  /** Called once it has closed. */
  readonly release: () => void
}

/** Serves an accepted WebSocket. */
export const createSocketConnection = (
  server: SocketServerState,
  { ws, socket, authorized, path, release }: AcceptedSocket,
): void => {
  const getGateway = server.gateway
  // Closures must not keep the result of the first check in memory.
  const { share, record } = authorized.tenant
  const identity = { requestId: authorized.context.requestId, network: path.network, keyId: record.id }
  const getMaxBehind = (): number => getGateway().config.webSocket.maxBufferedBytes
  const createMemory = (kind: BufferKind, getOwnMost = () => Infinity): BufferedBytes => {
    const bounds = {
      get most() {
        return getGateway().limits.maxBufferedBytes
      },
      get ownMost() {
        return getOwnMost()
      },
    }
    return createBufferedBytes(kind, bounds, share)
  }
  const writer = createTurnWriter(socket)
  const openedAt = performance.now()
  const connection: SocketConnection = {
    server,
    ws,
    path,
    openedAt,
    authorized,
    checkedWith: undefined,
    pingedAt: openedAt,
    isAlive: true,
    isLeaving: false,
    closingAt: undefined,
    closeReason: undefined,
    writer,
    notifications: createMemory('notifications'),
    usage: createNotificationUsage(),
    subscriber: createSubscriber({
      getHub: () => getGateway().getHub(identity.network),
      memory: createMemory('subscriptions', getMaxBehind),
      waiting: createMemory('notifications', getMaxBehind),
      deliver: (...notifications) => deliver(connection, ...notifications),
      end: (id, rejection) => {
        if (isOpen(connection)) writer.write(toEndFrame(id, rejection, identity.requestId))
      },
      fail: (fault) => closeConnection(connection, faultCloses[fault].code, faultCloses[fault].reason),
    }),
    messages: createMessages(),
    reader: createMessageReader(socket, {
      // A message costs more than its bytes if it arrives in many parts.
      memory: createMemory('messages', () => 2 * getGateway().limits.maxBodyBytes),
      timeoutMs: () => getGateway().limits.requestTimeoutMs,
      onNoRoom: (isTooBig) =>
        isTooBig
          ? closeConnection(connection, closeCodes.tooBig, 'message_too_big')
          : closeConnection(connection, closeCodes.tryLater, 'upstream_busy'),
    }),
  }
  meterOpening(getGateway(), connection)
  handleEvents(connection, identity, release)
  server.add(connection)
  getGateway().log({ event: 'webSocket', state: 'opened', ...identity })
}

const deliver = (
  connection: SocketConnection,
  ...[frame, count, kind, minUnits]: Parameters<Subscriber['deliver']>
): void => {
  const { server, writer, messages, notifications, usage, path } = connection
  if (!isOpen(connection)) return
  // Responses have limits of their own.
  const behind = writer.behind() - messages.unflushed
  if (behind > server.gateway().config.webSocket.maxBufferedBytes || !holdBytes(notifications, frame.length)) {
    terminateConnection(connection, 'slow_reader')
    return
  }
  writer.write(frame, () => dropBytes(notifications, frame.length))
  addNotifications(usage, count, minUnits)
  server.countNotifications(path.network, kind, count)
}

/**
 * Notifies a caller that a subscription has ended. It is an error for a library that finds the subscription by its method and id (viem), and for one that
 * finds no call with the id `null` (ethers).
 */
const toEndFrame = (id: string, rejection: Rejection, requestId: string): Buffer => {
  const error = formatRejection(rejection, 'null', requestId).slice(0, -1)
  const end = Buffer.from(`${error},"method":"eth_subscription","params":{"subscription":"${id}"}}`)
  return toTextFrames('', [end])
}

/** The reason of a connection that the WebSocket library closed: what the caller sent is too big, or is no frame. */
const toProtocolReason = (error: unknown): CloseReason =>
  (error as { readonly code?: unknown }).code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
    ? 'message_too_big'
    : 'protocol_error'

const handleEvents = (
  connection: SocketConnection,
  identity: { readonly requestId: string; readonly network: Network; readonly keyId: string },
  release: () => void,
): void => {
  const { server, ws, openedAt, messages, reader, subscriber, notifications, usage } = connection
  const alive = (): void => void (connection.isAlive = true)
  ws.on('message', (data) => {
    alive()
    // `binaryType` is `nodebuffer`, so a message is one Buffer.
    if (connection.closingAt === undefined) addMessage(connection, unpin(data as Buffer))
  })
  ws.on('ping', alive)
  ws.on('pong', alive)
  ws.on('error', (error) => {
    connection.closeReason ??= toProtocolReason(error)
    // The library reads nothing more.
    reader.close()
  })
  ws.on('close', (code) => {
    release()
    reader.close()
    subscriber.leave()
    disconnectMessages(connection)
    dropAllBytes(notifications)
    chargeNotifications(server.gateway(), connection)
    server.remove(connection)
    server.gateway().log({
      event: 'webSocket',
      state: 'closed',
      ...identity,
      reason: connection.closeReason ?? 'client',
      code,
      requests: messages.count,
      notifications: usage.total,
      durationMs: Math.round(performance.now() - openedAt),
    })
  })
}
