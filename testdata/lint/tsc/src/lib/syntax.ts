export const broken: = ;
