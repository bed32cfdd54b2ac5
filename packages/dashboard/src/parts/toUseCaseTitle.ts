import type { UseCase } from '@keyrail/gateway'

/** A use case as people write it. */
export const toUseCaseTitle = (useCase: UseCase): string => (useCase === 'Defi' ? 'DeFi' : useCase)
