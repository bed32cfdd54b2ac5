export { manyEventsAbi, manyEventsBytecode } from '../artifacts/manyEvents.ts'
export { offchainReaderAbi, offchainReaderBytecode } from '../artifacts/offchainReader.ts'
export { revertsAbi, revertsBytecode } from '../artifacts/reverts.ts'
export { tokenAbi, tokenBytecode } from '../artifacts/token.ts'
