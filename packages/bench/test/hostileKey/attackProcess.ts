import { startAttack } from './attack.ts'

// The attacker, as a process of its own, so that it does not slow the ordinary callers.
startAttack(process.argv[2] ?? '')
