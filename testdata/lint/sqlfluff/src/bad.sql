select a,b  from t where c=1
SELECT 1 from  x
