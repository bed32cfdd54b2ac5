let onLoss: () => void = () => undefined

/** Sets what happens when the session is no longer valid. */
export function whenSessionIsLost(callback: () => void): void {
  onLoss = callback
}

/** Reports that the session is no longer valid. */
export function loseSession(): void {
  onLoss()
}
