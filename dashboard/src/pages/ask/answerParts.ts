/** Divides an answer into its text and the numbers of its citations. */

export interface AnswerPart {
  start: number;
  text: string;
  /** Number of the cited passage; null for text. */
  marker: number | null;
}

/** `isPassage` tells the numbers of passages from other numbers in brackets. */
export function answerParts(answer: string, isPassage: (marker: number) => boolean): AnswerPart[] {
  const parts: AnswerPart[] = [];
  let end = 0;
  const addText = (to: number) => {
    if (to > end) parts.push({ start: end, text: answer.slice(end, to), marker: null });
  };
  for (const match of answer.matchAll(/\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]/g)) {
    const numbers = [...(match[1] ?? "").matchAll(/\d+/g)];
    if (!numbers.every((number) => isPassage(Number(number[0])))) continue;
    addText(match.index);
    for (const number of numbers) {
      parts.push({
        start: match.index + 1 + number.index,
        text: number[0],
        marker: Number(number[0]),
      });
    }
    end = match.index + match[0].length;
  }
  addText(answer.length);
  return parts;
}
