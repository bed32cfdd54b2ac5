import type { Hex } from '@keyrail/core'

const runtime = [
  '36600f57', // jump to 0x0f if there is calldata
  '60005460005260206000f3', // else return slot 0
  '5b60003580601c57', // 0x0f: jump to 0x1c if the word is not zero
  '60006000fd', // else revert
  '5b80600055600052', // 0x1c: store the word in slot 0 and in memory
  '3360aa60206000a200', // log it with topics 0xaa and the caller
].join('')

/** Init code of a contract that stores and logs the word it is called with, returns the stored word without one, and reverts for zero. */
export const emitterInitCode: Hex = `0x602d8060093d393df3${runtime}`

/** The code of the deployed contract. */
export const emitterCode: Hex = `0x${runtime}`

/** A number as the word of 32 bytes that the contract takes. */
export const toWord = (value: number | bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`
