/** Counts instructions with valgrind. One thread does everything: the runs, the compiler and the garbage collector. */
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'

/** The program that starts a process whose instructions are counted. */
export function callgrind(out: string): readonly string[] {
  return ['valgrind', '--quiet', '--tool=callgrind', `--callgrind-out-file=${out}`, '--dump-before=uv_os_gethostname']
}

/** The flags of such a process. Another seed gives another layout of its tables. */
export function countedFlags(seed: string): readonly string[] {
  return ['--single-threaded', '--predictable', `--random-seed=${seed}`]
}

/** Called by such a process where the counting begins and where it ends: nothing else asks for this name. */
export function mark(): void {
  hostname()
}

/** The instructions between the two marks. */
export function countedIn(out: string): number {
  return Number(/^totals: (\d+)/m.exec(readFileSync(`${out}.2`, 'utf8'))?.[1])
}
