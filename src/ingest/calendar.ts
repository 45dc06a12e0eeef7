/** Dates as clients write them: whether a day is in the calendar. */

/** Whether the month of a date `YYYY-MM-DD…` has that day: `Date.parse` takes 30 February for 2 March. */
export function isDayOfItsMonth(text: string): boolean {
  const day = Number(text.slice(8, 10));
  if (day <= 28) return true;
  const month = Number(text.slice(5, 7));
  if (month !== 2) return day <= (month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31);
  const year = Number(text.slice(0, 4));
  return day === 29 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}
