import { KeyrailError, classify } from '@keyrail/core'
