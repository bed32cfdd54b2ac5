import type { NodeSubscriber, NodeSubscriptionListener } from './getNodeSubscriptions.ts'

/**
 * Creates a subscription that can be paused. A paused one reads nothing, unless `drop` ends it.
 *
 * @param follow - Subscribes, until the signal is aborted.
 * @param listener - Receives the results.
 */
export function createSubscriber(
  follow: (listener: NodeSubscriptionListener, signal: AbortSignal) => void,
  { onResult, onError }: NodeSubscriptionListener,
): NodeSubscriber {
  let controller: AbortController | undefined
  let resumed: Promise<void> | undefined
  let resolveResumed = (): void => {}
  const start = (): void => {
    if (controller) return
    const { signal } = (controller = new AbortController())
    const onResultUnlessPaused: NodeSubscriptionListener['onResult'] = async (...args) => {
      await resumed
      if (!signal.aborted) await onResult(...args)
    }
    follow({ onResult: onResultUnlessPaused, onError }, signal)
  }
  const stop = (): void => {
    controller?.abort()
    controller = undefined
    resolveResumed()
  }
  return {
    start,
    stop,
    pause: (drop) => {
      if (drop) stop()
      else resumed = new Promise((resolve) => (resolveResumed = resolve))
    },
    resume: () => {
      resolveResumed()
      start()
    },
  }
}
