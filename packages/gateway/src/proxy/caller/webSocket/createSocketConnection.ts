import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { createBufferedBytes, dropAllBytes, dropBytes, holdBytes } from '../../../lib/memoryBudget.ts'
import type { BufferKind } from '../../../lib/memoryBudget.ts'
import { formatRejection } from '../../../errors/rejection.ts'
import type { Rejection } from '../../../errors/rejection.ts'
import { toTextFrames } from '../../../lib/textFrames.ts'
import type { CallPath } from '../../http/parsePath.ts'
import type { GatewayContext } from '../../request/gatewayContext.ts'
import type { AuthorizedRequest } from '../../request/requestContext.ts'
import { unpin } from '../../../lib/unpin.ts'
import { closeCodes, faultCloses } from './closeReasons.ts'
import type { CloseReason } from './closeReasons.ts'
import { createMessages } from './createMessages.ts'
import { createMessageReader } from './createMessageReader.ts'
import { createNotificationUsage } from './createNotificationUsage.ts'
import { createSubscriber } from './createSubscriber.ts'
import { createTurnWriter } from './createTurnWriter.ts'
import type { SocketConnection, SocketServerState } from './socketConnection.ts'

/** How long a caller may take to confirm that its connection is closed, in milliseconds. */
const closeTimeoutMs = 2_000

/** The reason of a connection that the WebSocket library closed: what the caller sent is too big, or is no frame. */
const toProtocolReason = (error: unknown): CloseReason =>
  (error as { readonly code?: unknown }).code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
    ? 'message_too_big'
    : 'protocol_error'

/**
 * Notifies a caller that a subscription has ended. It is an error for a library that finds the subscription by its method and id (viem), and for one that
 * finds no call with the id `null` (ethers).
 */
const toEndFrame = (id: string, rejection: Rejection, requestId: string): Buffer => {
  const error = formatRejection(rejection, 'null', requestId).slice(0, -1)
  const end = Buffer.from(`${error},"method":"eth_subscription","params":{"subscription":"${id}"}}`)
  return toTextFrames('', [end])
}

/**
 * Serves an accepted WebSocket.
 * @param options.release - Called once it has closed.
 */
export const createSocketConnection = (
  server: SocketServerState,
  options: {
    readonly ws: WebSocket
    readonly socket: Duplex
    readonly authorized: AuthorizedRequest
    readonly path: CallPath
    readonly release: () => void
  },
): SocketConnection => {
  const { ws, socket, path, release } = options
  let { authorized } = options
  const { context: opening } = authorized
  const { network } = path
  const identity = { requestId: opening.requestId, network, keyId: authorized.tenant.record.id }
  const openedAt = performance.now()
  let pingedAt = openedAt
  /** Whether the caller has sent something since the last ping. */
  let isAlive = true
  let isLeaving = false
  let closingAt: number | undefined
  let closeReason: CloseReason | undefined
  const isClosing = (): boolean => closingAt !== undefined
  const writer = createTurnWriter(socket)
  const getLimits = () => server.gateway().limits
  const getMaxBehind = (): number => server.gateway().sockets.options.maxBufferedBytes
  const createMemory = (kind: BufferKind, getOwnMost: () => number = () => Infinity) => {
    const bounds = {
      get most() {
        return getLimits().maxBufferedBytes
      },
      get ownMost() {
        return getOwnMost()
      },
    }
    return createBufferedBytes(kind, bounds, authorized.tenant.share)
  }
  const notifications = createMemory('notifications')
  /** Bytes of notifications that the caller has not read. Responses have limits of their own. */
  const getBehind = (): number => writer.behind() - messages.unflushedBytes()

  const close = (code: number, reason: CloseReason): void => {
    if (isClosing()) return
    closingAt = performance.now()
    closeReason = reason
    messages.stop()
    subscriber.leave()
    // Otherwise the caller's own close frame would not be read.
    ws.resume()
    ws.close(code, reason === 'restart' ? 'service restart' : reason)
  }
  const terminate = (reason: CloseReason): void => {
    closeReason ??= reason
    ws.terminate()
  }
  const closeIfIdle = (): void => {
    if (isLeaving && messages.inFlight() === 0) close(closeCodes.restart, 'restart')
  }

  const usage = createNotificationUsage(server.gateway(), () => authorized)
  const subscriber = createSubscriber({
    getHub: () => server.gateway().sockets.getHub(network),
    memory: createMemory('subscriptions', getMaxBehind),
    waiting: createMemory('notifications', getMaxBehind),
    deliver: (frame, count, kind, minUnits) => {
      if (ws.readyState !== ws.OPEN) return
      const isTooFarBehind = getBehind() > getMaxBehind()
      if (isTooFarBehind || !holdBytes(notifications, frame.length)) {
        terminate('slow_reader')
        return
      }
      writer.write(frame, () => dropBytes(notifications, frame.length))
      usage.add(count, minUnits)
      server.countNotifications(network, kind, count)
    },
    end: (id, rejection) => {
      if (ws.readyState === ws.OPEN) writer.write(toEndFrame(id, rejection, identity.requestId))
    },
    fail: (fault) => close(faultCloses[fault].code, faultCloses[fault].reason),
  })
  const messages = createMessages({
    name: network,
    gateway: server.gateway,
    authorized: () => authorized,
    subscriptions: () => subscriber.calls(),
    write: writer.write,
    isOpen: () => ws.readyState === ws.OPEN,
    onIdle: closeIfIdle,
    pause: () => ws.pause(),
    resume: () => {
      // Nothing could be read while it was paused, not even a pong.
      isAlive = true
      ws.resume()
    },
  })

  const reader = createMessageReader(socket, {
    // A message costs more than its bytes if it arrives in many parts.
    memory: createMemory('messages', () => 2 * getLimits().maxBodyBytes),
    timeoutMs: () => getLimits().requestTimeoutMs,
    onNoRoom: (isTooBig) =>
      isTooBig ? close(closeCodes.tooBig, 'message_too_big') : close(closeCodes.tryLater, 'upstream_busy'),
  })

  const maintain = (gateway: GatewayContext): void => {
    const now = performance.now()
    const { pingMs } = gateway.sockets.options
    if (closingAt !== undefined) {
      if (now - closingAt >= closeTimeoutMs) terminate('client')
      return
    }
    if (now >= messages.flushBy()) {
      terminate('slow_reader')
      return
    }
    if (reader.isLate(now)) {
      close(closeCodes.policy, 'request_timeout')
      return
    }
    const rejection = usage.charge(gateway)
    if (rejection !== undefined) close(closeCodes.policy, rejection.reason)
    else if (now - pingedAt >= pingMs) ping(now)
  }
  const ping = (now: number): void => {
    // While responses wait for the caller, or it is not read from, it can't respond to a ping. Responses have a time limit of their own.
    if (!isAlive && !messages.isPaused() && messages.unflushedBytes() === 0) {
      terminate('no_pong')
      return
    }
    isAlive = false
    pingedAt = now
    ws.ping()
  }

  const connection: SocketConnection = {
    network,
    path,
    authorized: () => authorized,
    reauthorize: (next) => {
      const before = authorized.tenant.record.allow
      authorized = next
      const { allow } = next.tenant.record
      if (allow === before) return
      subscriber.review((params) => {
        const subscribe = { method: 'eth_subscribe', params }
        return allow?.rejectCall(subscribe) ?? next.tokenAllowList?.rejectCall(subscribe)
      })
    },
    close,
    leave: () => {
      if (isLeaving) return false
      isLeaving = true
      messages.stop()
      closeIfIdle()
      return true
    },
    terminate,
    maintain,
    inFlight: () => messages.inFlight(),
  }

  const alive = (): void => void (isAlive = true)
  ws.on('message', (data) => {
    alive()
    // `binaryType` is `nodebuffer`, so a message is one Buffer.
    if (!isClosing()) messages.add(unpin(data as Buffer))
  })
  ws.on('ping', alive)
  ws.on('pong', alive)
  ws.on('error', (error) => {
    closeReason ??= toProtocolReason(error)
    // The library reads nothing more.
    reader.close()
  })
  ws.on('close', (code) => {
    release()
    reader.close()
    subscriber.leave()
    messages.disconnect()
    dropAllBytes(notifications)
    usage.charge(server.gateway())
    server.remove(connection)
    server.gateway().log({
      event: 'webSocket',
      state: 'closed',
      ...identity,
      reason: closeReason ?? 'client',
      code,
      requests: messages.count(),
      notifications: usage.total(),
      durationMs: Math.round(performance.now() - openedAt),
    })
  })
  server.add(connection)
  server.gateway().log({ event: 'webSocket', state: 'opened', ...identity })
  return connection
}
