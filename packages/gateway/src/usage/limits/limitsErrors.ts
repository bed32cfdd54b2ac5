import { StorageError } from '../../errors/storageError.ts'

/** The error of a request that waited too long for its limits. */
export const tooSlow = (): StorageError =>
  new StorageError('the limits did not respond in time', { fault: 'unavailable' })

/** The error of a request to limits that are closed. */
export const limitsClosed = (): StorageError => new StorageError('the limits are closed', { fault: 'unavailable' })
