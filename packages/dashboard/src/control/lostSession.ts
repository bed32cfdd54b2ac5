let onLoss: () => void = () => undefined

/** Says what is done when the service no longer knows who asks. */
export function whenSessionIsLost(callback: () => void): void {
  onLoss = callback
}

/** Tells that the service no longer knows who asks. */
export function loseSession(): void {
  onLoss()
}
